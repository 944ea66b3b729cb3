# Functions for the suites of terminal editors.

# Creates a copy of the project with an empty .git as root marker, a `bin` directory with `podlens`, and an empty home.
# Prints its directory.
new_project() {
  local directory="$PODLENS_WORK/$1"
  mkdir -p "$directory/bin" "$directory/home" "$directory/project/.git"
  cp "$here"/project/* "$directory/project"
  ln -sf "$PODLENS" "$directory/bin/podlens"
  echo "$directory"
}

# Prints a script that runs a program of another Debian release with the libraries of that release.
release_program() {
  local tree="$PODLENS_TOOLS/$1" loader libraries
  shift
  loader="$(ls "$tree"/usr/lib*/ld-linux-*.so.* | head -n 1)"
  libraries="$(dirname "$(ls -d "$tree"/usr/lib/*-linux-gnu/libc.so.6)")"
  printf '#!/bin/sh\nexec "%s" --library-path "%s" "%s" "$@"\n' "$loader" "$libraries" "$tree$1"
}
