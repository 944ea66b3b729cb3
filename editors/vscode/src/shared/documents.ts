/** The documents of a YAML file, told apart by the lines between them. */

const MARKER = /^---(\s|$)/;

/** Which document a line is in: how many markers stand above it or on it. */
export function documentAt(text: string, line: number): number {
  return text
    .split("\n")
    .slice(0, line + 1)
    .filter((it) => MARKER.test(it)).length;
}

/** The first line of a document that says something. */
export function startOf(text: string, document: number): number {
  const lines = text.split("\n");
  let seen = 0;
  for (const [at, line] of lines.entries()) {
    if (MARKER.test(line)) {
      seen += 1;
    } else if (seen === document && !/^\s*(#.*)?$/.test(line)) {
      return at;
    }
  }
  return 0;
}
