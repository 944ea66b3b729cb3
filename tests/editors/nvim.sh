#!/usr/bin/env bash
# Tests Neovim 0.7 of Debian bookworm, 0.10 of trixie and 0.12 of forky, each configured as the documentation says.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/lib.sh"

# Arguments: name of the directory, program, runtime directory (empty for the default), example configuration.
run_nvim() {
  local name="$1" program="$2" runtime="$3" init="$4" directory status=0
  directory="$(new_project "$name")"
  ln -sf "$PODLENS_TOOLS/programs/node_modules/.bin/yaml-language-server" "$directory/bin/yaml-language-server"
  (
    cd "$directory/project"
    export HOME="$directory/home" XDG_CONFIG_HOME="$directory/home" XDG_DATA_HOME="$directory/home"
    export XDG_STATE_HOME="$directory/home" XDG_CACHE_HOME="$directory/home" PATH="$directory/bin:$PATH"
    [ -z "$runtime" ] || export VIMRUNTIME="$runtime"
    PODLENS_PLUGIN="$here/../../editors/nvim" PODLENS_INIT="$init" \
      timeout 300 "$program" --headless -u NONE -i NONE -n -c "luafile $here/nvim.lua" web.yaml 2>"$directory/messages"
  ) || status=$?
  # A headless Neovim writes messages to stderr, the last one without a line break.
  { tr -d '\r' <"$directory/messages" && echo; } >&2
  if grep -q 'offset_encoding\|position encoding' "$directory/messages"; then
    echo "not ok - $name: shows no warning about encodings: $(grep -m 1 encoding "$directory/messages" | cut -c 1-200)"
  fi
  [ "$status" -eq 0 ] || echo "not ok - $name: Neovim exited with code $status: $(tail -n 1 "$directory/messages" | tr -d '\r')"
}

run_nvim nvim-0.7 nvim "" init-0.7.lua
for release in trixie:init-0.8.lua forky:init-0.11.lua; do
  tree="${release%%:*}"
  program="$PODLENS_WORK/program-$tree"
  release_program "$tree" /usr/bin/nvim >"$program"
  chmod +x "$program"
  run_nvim "nvim-$tree" "$program" "$PODLENS_TOOLS/$tree/usr/share/nvim/runtime" "${release#*:}"
done
