import { escapeHtml, HTML_TYPE, PAGE_HEADERS, prefersHtml, renderWebPage } from '../../core/web-page.ts';

export interface RootOptions {
  /** Origin of the request, already checked: `http://127.0.0.1:4444`. */
  readonly origin: string;
  readonly accept: string | undefined;
  /** Whether MCP clients must send a token. */
  readonly needsToken: boolean;
}

/**
 * `GET /`: a page for people, links for programs. Neither needs a token, so they reveal nothing about what is served.
 */
export function buildRootResponse(options: RootOptions): Response {
  const isPage = prefersHtml(options.accept);
  const text = isPage ? pageOf(options) : JSON.stringify(linksOf(options));
  const type = isPage ? HTML_TYPE : 'application/json';
  const headers = {
    ...PAGE_HEADERS,
    'content-type': type,
    'cache-control': 'no-cache',
    vary: 'Accept, Host',
  };
  return new Response(text, { headers });
}

function linksOf({ origin, needsToken }: RootOptions): Readonly<Record<string, unknown>> {
  const paths = {
    mcp: '/mcp',
    allTools: '/mcp/all',
    docs: '/docs',
    openapi: '/openapi.json',
    health: '/health',
  };
  const links = Object.entries(paths).map(([name, path]) => [name, origin + path]);
  return {
    name: 'Assay',
    description:
      'An MCP gateway. Connect MCP clients to links.mcp; the REST API is documented at links.docs.',
    mcpNeedsToken: needsToken,
    links: Object.fromEntries(links) as Readonly<Record<string, string>>,
  };
}

function pageOf({ origin, needsToken }: RootOptions): string {
  const endpoint = `${origin}/mcp`;
  const header = needsToken ? ' --header "Authorization: Bearer <token>"' : '';
  const entry = {
    url: endpoint,
    ...(needsToken && { headers: { Authorization: 'Bearer <token>' } }),
  };
  const lines = [
    `claude mcp add --transport http assay ${endpoint}${header}`,
    JSON.stringify({ mcpServers: { assay: entry } }),
  ];
  const token =
    '<p><code>assay token create NAME</code> prints a token; replace <code>&lt;token&gt;</code> with it.</p>';
  return renderWebPage('Assay', {
    body: `<main>
<h1>Assay is running</h1>
<p>Assay is an MCP gateway: it puts MCP servers, REST APIs and functions behind one endpoint.</p>
<h2>Connect an MCP client</h2>
<p>The endpoint is <code>${escapeHtml(endpoint)}</code>. <code>assay connect</code> writes it into the config of a client, or add it yourself: in Claude Code with the first line, in the config of Cursor and others with the second.</p>
<pre>${lines.map(escapeHtml).join('\n')}</pre>
${needsToken ? token : ''}
<h2>More</h2>
<ul>
<li><a href="/admin">Admin pages</a></li>
<li><a href="/docs">REST API</a>, and its <a href="/openapi.json">OpenAPI document</a></li>
<li><a href="/health">Health</a></li>
<li><code>assay doctor</code> checks the config and all servers.</li>
</ul>
</main>`,
  });
}
