/** No external resources and no inline scripts or styles, so text in a page cannot run as code. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

export const HTML_TYPE = 'text/html; charset=utf-8';

/** A page of Assay. `head` and `body` are HTML. */
export function renderWebPage(
  title: string,
  { head = '', body }: { readonly head?: string; readonly body: string },
): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="/docs/page.css">
<link rel="icon" href="data:,">
${head}
</head>
<body>
${body}
</body>
</html>
`;
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * Whether the request comes from a browser, which names HTML explicitly; programs send no Accept header, JSON or any type.
 */
export function prefersHtml(accept: string | undefined): boolean {
  return accept !== undefined && /\btext\/html\b/i.test(accept);
}
