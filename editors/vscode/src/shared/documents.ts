/** Splits a YAML file into documents at the `---` lines. */

const MARKER = /^---(\s|$)/;

/** The index of the document that contains a line: the number of `---` markers up to and including it. */
export function documentAt(text: string, line: number): number {
  return text
    .split("\n")
    .slice(0, line + 1)
    .filter((it) => MARKER.test(it)).length;
}

/** The first line of a document that is neither blank nor a comment. */
export function firstContentLine(text: string, document: number): number {
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
