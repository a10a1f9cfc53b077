import { REFUSAL_CODES, getRestStatus } from '../../core/errors.ts';
import { HTML_TYPE, renderWebPage } from '../../core/web-page.ts';
import { formatCodeTitle } from './failure.ts';

/** Browser assets shipped with the program. */
export type AssetName = 'swagger-ui-bundle.js' | 'swagger-ui.css';

/** A page of the documentation, or one of its assets. */
export interface Page {
  readonly type: string;
  readonly text: string;
}

/** The page at a path. Undefined if there is none. */
export async function findDocsPage(
  path: string,
  asset: (name: AssetName) => Promise<string | undefined>,
): Promise<Page | undefined> {
  switch (path) {
    case '/docs':
      return { type: HTML_TYPE, text: DOCS };
    case '/docs/errors':
      return { type: HTML_TYPE, text: errorsPage() };
    case '/docs/start.js':
      return { type: 'text/javascript; charset=utf-8', text: START };
    case '/docs/page.css':
      return { type: 'text/css; charset=utf-8', text: STYLE };
    case '/docs/swagger-ui-bundle.js':
      return assetPage('text/javascript; charset=utf-8', await asset('swagger-ui-bundle.js'));
    case '/docs/swagger-ui.css':
      return assetPage('text/css; charset=utf-8', await asset('swagger-ui.css'));
    default:
      return undefined;
  }
}

function assetPage(type: string, text: string | undefined): Page | undefined {
  return text === undefined ? undefined : { type, text };
}

const DOCS = renderWebPage('Assay REST API', {
  head: `<link rel="stylesheet" href="/docs/swagger-ui.css">
<script src="/docs/swagger-ui-bundle.js" defer></script>
<script src="/docs/start.js" defer></script>`,
  body: `<div id="swagger-ui"></div>
<noscript>Without scripts, read <a href="/openapi.json">the document itself</a>.</noscript>`,
});

/** Disables Swagger UI's validator, which is an external service by default. */
const START = `'use strict';
SwaggerUIBundle({ url: '/openapi.json', dom_id: '#swagger-ui', deepLinking: true, validatorUrl: null });
`;

const STYLE = `body { margin: 0 auto; max-width: 70rem; font: 1rem/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; }
table { border-collapse: collapse; margin: 1rem; }
th, td { padding: 0.25rem 1rem 0.25rem 0; text-align: left; }
:target { background: #fff3bf; }
h1 { margin: 1rem; font-size: 1.5rem; }
main { margin: 1rem; max-width: 45rem; }
main h1 { margin: 1rem 0; }
main h2 { margin: 1.5rem 0 0.5rem; font-size: 1.1rem; }
pre { padding: 0.75rem; overflow-x: auto; background: #f4f4f4; }
`;

function errorsPage(): string {
  const rows = REFUSAL_CODES.map(
    (code) =>
      `<tr id="${code}"><td><code>${code}</code></td><td>${getRestStatus(code)}</td><td>${formatCodeTitle(code)}</td></tr>`,
  );
  const head = '<tr><th>Code</th><th>Status</th><th>Title</th></tr>';
  return renderWebPage('Assay errors', {
    body: `<h1>Errors</h1>
<table>${head}
${rows.join('\n')}
</table>`,
  });
}
