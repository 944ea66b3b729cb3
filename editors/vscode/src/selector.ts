/** The documents that are sent to the server. The server reports nothing for files that are not Kubernetes manifests. */

const LANGUAGES = ["yaml", "json", "helm"];
const SCHEMES = ["file", "untitled"];

export const SELECTOR = [
  ...LANGUAGES.flatMap((language) => SCHEMES.map((scheme) => ({ language, scheme }))),
  // Parameter files and env files, independent of the language VS Code assigns to them.
  { scheme: "file", pattern: "**/*.{params,env}" },
];

export function isManifest(document: { languageId: string; uri: { scheme: string } }): boolean {
  return LANGUAGES.includes(document.languageId) && SCHEMES.includes(document.uri.scheme);
}
