#!/usr/bin/env bash
# Tests Emacs of Debian bookworm in batch mode, with eglot and with lsp-mode, each with the shipped configuration.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/lib.sh"

for client in eglot lsp-mode; do
  directory="$(new_project "$client")"
  ln -sf "$PODLENS_TOOLS/programs/node_modules/.bin/yaml-language-server" "$directory/bin/yaml-language-server"
  status=0
  (
    cd "$directory/project"
    export HOME="$directory/home" PATH="$directory/bin:$PATH" LC_ALL=C.UTF-8
    timeout 300 emacs --batch -q -L "$here/../../editors/emacs" -l "$here/emacs.el" \
      -l "$here/emacs-$client.el" 2>"$directory/messages"
  ) || status=$?
  { cat "$directory/messages" && echo; } >&2
  [ "$status" -eq 0 ] || echo "not ok - emacs with $client: exited with code $status: $(tail -n 1 "$directory/messages")"
done
