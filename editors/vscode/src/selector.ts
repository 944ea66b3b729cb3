/** The documents the server looks at. It is silent on those that are not Kubernetes. */

const LANGUAGES = ["yaml", "json", "helm"];
const SCHEMES = ["file", "untitled"];

export const SELECTOR = [
  ...LANGUAGES.flatMap((language) => SCHEMES.map((scheme) => ({ language, scheme }))),
  // Values for the parameters of templates, and env files: whatever language they are taken for.
  { scheme: "file", pattern: "**/*.{params,env}" },
];

export function isManifest(document: { languageId: string; uri: { scheme: string } }): boolean {
  return LANGUAGES.includes(document.languageId) && SCHEMES.includes(document.uri.scheme);
}
