# What the suites of terminal editors share: a project to work in, and a PATH with the server under test.

# A fresh copy of the project, which ends at an empty .git, with `podlens` on the PATH and nobody's configuration.
new_project() {
  local directory="$PODLENS_WORK/$1"
  mkdir -p "$directory/bin" "$directory/home" "$directory/project/.git"
  cp "$here"/project/* "$directory/project"
  ln -sf "$PODLENS" "$directory/bin/podlens"
  echo "$directory"
}

# Runs a program of another Debian release with that release's own libraries.
release_program() {
  local tree="$PODLENS_TOOLS/$1" loader libraries
  shift
  loader="$(ls "$tree"/usr/lib*/ld-linux-*.so.* | head -n 1)"
  libraries="$(dirname "$(ls -d "$tree"/usr/lib/*-linux-gnu/libc.so.6)")"
  printf '#!/bin/sh\nexec "%s" --library-path "%s" "%s" "$@"\n' "$loader" "$libraries" "$tree$1"
}
