/** The HTML of a page, with a content security policy that allows only its own script and style. */

export interface PageParts {
  title: string;
  script: string;
  style: string;
  /** The allowed origin of the style sheet. */
  styleSource: string;
  nonce: string;
}

export function pageHtml({ title, script, style, styleSource, nonce }: PageParts): string {
  const policy = `default-src 'none'; style-src ${styleSource}; script-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="stylesheet" href="${style}">
</head>
<body>
<script nonce="${nonce}" src="${script}"></script>
</body>
</html>`;
}
