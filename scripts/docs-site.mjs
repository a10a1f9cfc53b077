import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { Marked, Renderer } from 'marked';

/**
 * The documentation site: `docs/`, the README as its first page, and every Markdown file that one of these links to.
 * `pages` holds the HTML by path; `faults` names each link whose file or heading does not exist.
 */
export function buildSite(root, { repository }) {
  const site = new Site(root, repository);
  site.readAll([FIRST, ...globSync('docs/**/*.md', { cwd: root }).map(toPosix).sort()]);
  const pages = new Map([...site.sources.values()].map((source) => [source.target, site.render(source)]));
  pages.set(DECISIONS, site.renderDecisions());
  return { pages, faults: site.faults };
}

const FIRST = 'README.md';
const DECISIONS_FOLDER = 'docs/adr';
const DECISIONS = `${DECISIONS_FOLDER}/index.html`;
const STYLE = 'style.css';

class Site {
  /** What was read, by path in the repository. */
  sources = new Map();
  faults = [];
  #root;
  #repository;

  constructor(root, repository) {
    this.#root = root;
    this.#repository = repository;
  }

  readAll(paths) {
    for (const path of paths) {
      if (this.sources.has(path)) continue;
      const source = readSource(path, readFileSync(join(this.#root, path), 'utf8'));
      this.sources.set(path, source);
      const linked = source.links.map((href) => resolveLink(path, href)).filter((link) => link !== undefined);
      this.readAll(linked.map((link) => link.path).filter((one) => one.endsWith('.md') && this.#isFile(one)));
    }
  }

  render(source) {
    const hrefFor = (href) => this.#hrefFor(source, href);
    // Methods, because Marked calls them with its parser.
    const marked = new Marked({
      gfm: true,
      renderer: {
        heading({ depth, tokens, text }) {
          const id = source.ids.next(tokens, text);
          const anchor = `<a class="anchor" href="#${id}" aria-label="Link to this section">#</a>`;
          return `<h${depth} id="${id}">${this.parser.parseInline(tokens)} ${anchor}</h${depth}>\n`;
        },
        link({ href, tokens }) {
          const inner = this.parser.parseInline(tokens);
          const target = hrefFor(href);
          return target === undefined ? inner : `<a href="${escapeHtml(target)}">${inner}</a>`;
        },
        // A wide table scrolls by itself, also by keyboard.
        table(token) {
          return `<div class="table" tabindex="0">${Renderer.prototype.table.call(this, token)}</div>\n`;
        },
        html: ({ text }) => escapeHtml(text),
      },
    });
    source.ids.restart();
    const body = marked.parse(source.text);
    return this.#layOut(source, { body, headings: source.headings.filter(({ depth }) => depth === 2) });
  }

  renderDecisions() {
    const decisions = this.#sourcesIn(DECISIONS_FOLDER);
    const items = decisions.map(
      ({ path, title }) => `<li><a href="${posix.basename(toTarget(path))}">${escapeHtml(title)}</a></li>`,
    );
    const body = `<h1>Decisions</h1>\n<ul>\n${items.join('\n')}\n</ul>\n`;
    return this.#layOut({ target: DECISIONS, title: 'Decisions' }, { body, headings: [] });
  }

  #sourcesIn(folder) {
    const sources = [...this.sources.values()].filter(({ path }) => posix.dirname(path) === folder);
    return sources.sort((one, other) => (one.path < other.path ? -1 : 1));
  }

  /** The address of a link on a page. Undefined if it leads to a file that is not part of the site. */
  #hrefFor({ path, target }, href) {
    const link = resolveLink(path, href);
    if (link === undefined) return /^(?:https?:|mailto:)/i.test(href) ? href : undefined;
    // On GitHub, `../../` of a file at the top is the address of the repository itself.
    const [, tab] = /^\.\.\/\.\.\/(security\/.+)$/.exec(href) ?? [];
    if (tab !== undefined && !path.includes('/')) return this.#onGitHub(tab);
    const fault = this.#faultOf(link);
    if (fault !== undefined) this.faults.push(`${path}: ${href}: ${fault}`);
    const isDecisions = link.path === DECISIONS_FOLDER;
    if (!isDecisions && !this.sources.has(link.path)) return this.#onGitHub(`blob/main/${link.path}`);
    const other = isDecisions ? DECISIONS : toTarget(link.path);
    const relative = other === target ? '' : relativeHref(target, other);
    return relative + (link.id === '' ? '' : `#${link.id}`) || relativeHref(target, other);
  }

  /** Undefined if the repository is not known. */
  #onGitHub(path) {
    return this.#repository && `https://github.com/${this.#repository}/${path}`;
  }

  #faultOf({ path, id }) {
    if (path.startsWith('../') || !existsSync(join(this.#root, path))) return 'there is no such file';
    const ids = this.sources.get(path)?.headings.map((heading) => heading.id) ?? [];
    return id === '' || ids.includes(id) ? undefined : 'there is no such heading';
  }

  #isFile(path) {
    return (
      !path.startsWith('../') &&
      existsSync(join(this.#root, path)) &&
      statSync(join(this.#root, path)).isFile()
    );
  }

  #layOut({ target, title }, { body, headings }) {
    const entry = (path, name) => {
      const current = path === target ? ' aria-current="page"' : '';
      return `<li><a href="${relativeHref(target, path)}"${current}>${escapeHtml(name)}</a></li>`;
    };
    const byTitle = this.#sourcesIn('docs').sort((one, other) => one.title.localeCompare(other.title, 'en'));
    const guides = byTitle.map((source) => entry(source.target, source.title));
    const menu = [entry(toTarget(FIRST), 'Start'), ...guides, entry(DECISIONS, 'Decisions')];
    const sections = headings.map(({ id, html }) => `<li><a href="#${id}">${html}</a></li>`);
    const contents = `<nav class="contents" aria-label="On this page"><ul>\n${sections.join('\n')}\n</ul></nav>\n`;
    const name = title === 'Assay' ? title : `${title} · Assay`;
    return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'">
<title>${escapeHtml(name)}</title>
<link rel="stylesheet" href="${relativeHref(target, STYLE)}">
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<nav class="menu" aria-label="Pages"><ul>
${menu.join('\n')}
</ul></nav>
<main id="main">
${sections.length > 1 ? contents : ''}${body}</main>
</body>
</html>
`;
  }
}

function readSource(path, text) {
  const ids = new HeadingIds();
  const headings = [];
  const links = [];
  const marked = new Marked({ gfm: true });
  marked.walkTokens(marked.lexer(text), (token) => {
    if (token.type === 'link') links.push(token.href);
    if (token.type !== 'heading') return;
    const html = escapeHtml(toText(token.tokens, token.text));
    headings.push({ depth: token.depth, id: ids.next(token.tokens, token.text), html });
  });
  const [, title = path] = /^# (.+)$/m.exec(text) ?? [];
  return { path, target: toTarget(path), text, title: title.replaceAll('`', ''), headings, links, ids };
}

/** The ids that GitHub gives headings, so that the same links work there and here. */
class HeadingIds {
  #seen = new Map();

  restart() {
    this.#seen.clear();
  }

  next(tokens, text) {
    const plain = toText(tokens, text).toLowerCase();
    const id = plain.replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '').replaceAll(' ', '-');
    const count = this.#seen.get(id) ?? 0;
    this.#seen.set(id, count + 1);
    return count === 0 ? id : `${id}-${count}`;
  }
}

function toText(tokens = [], text = '') {
  const parts = tokens.map((token) => ('tokens' in token ? toText(token.tokens, token.text) : token.text));
  return tokens.length === 0 ? text : parts.join('');
}

/** Undefined for addresses outside the repository. */
function resolveLink(from, href) {
  if (/^[a-z][a-z+.-]*:|^\/\//i.test(href)) return undefined;
  const [file = '', id = ''] = decodeURI(href).split('#');
  const path = file === '' ? from : posix.normalize(posix.join(posix.dirname(from), file));
  return { path: path.replace(/\/$/, ''), id };
}

function toTarget(path) {
  return path === FIRST ? 'index.html' : path.replace(/\.md$/, '.html');
}

function relativeHref(from, to) {
  return posix.relative(posix.dirname(from), to);
}

function toPosix(path) {
  return path.replaceAll('\\', '/');
}

function escapeHtml(text) {
  const names = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  return text.replace(/[&<>"']/g, (character) => names[character]);
}
