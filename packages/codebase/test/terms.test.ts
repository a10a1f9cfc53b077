import { describe, expect, it } from 'vitest';
import { findDeclaredNames } from '../src/declared-names.ts';
import { toCompoundTerm, parseQueryTerms, toIndexTerms, splitIdentifier } from '../src/terms.ts';

const chunk = (content: string, symbol: string | null = null) => ({
  kind: 'block' as const,
  symbol,
  parent: null,
  signature: '',
  content,
});

describe('the words of an identifier', () => {
  it.each([
    ['getUserById', 'get user by id', 'getuserbyid'],
    ['HTTPServer', 'http server', 'httpserver'],
    ['getHTTPSUrls', 'get https urls', 'gethttpsurls'],
    ['__parse_header', 'parse header', 'parseheader'],
    ['MAX_RETRY_COUNT', 'max retry count', 'maxretrycount'],
    ['data-test-id', 'data test id', 'datatestid'],
    ['sha256sum', 'sha 256 sum', 'sha256sum'],
    ['userIDs', 'user ids', 'userids'],
    ['größeÄndern', 'größe ändern', 'größeändern'],
    ['$', '', ''],
  ])('%s', (identifier, words, compound) => {
    expect(splitIdentifier(identifier).join(' ')).toBe(words);
    expect(toCompoundTerm(identifier)).toBe(compound);
  });
});

describe('the index terms of a chunk', () => {
  it('contain the symbol whole and in words, and its location', () => {
    const source = {
      kind: 'function' as const,
      symbol: 'parse_header',
      parent: 'HttpServer',
      signature: 'def parse_header(self, raw: bytes)',
      content: 'def parse_header(self, raw):\n    return self.headerOf(raw)',
    };
    expect(toIndexTerms(source, 'src/net/tcp_server.py')).toEqual({
      name: 'parseheader parse header',
      context: 'http server httpserver src net tcp server tcpserver',
      signature: 'parse header parseheader raw bytes',
      body: 'parse header parseheader raw header headerof raw',
    });
  });
  it('omit encoded data and stop words', () => {
    const bytes = 'aGVsbG8gd29ybGQgdGhpcyBpcyBhIGJhc2U2NCBzdHJpbmc';
    expect(toIndexTerms(chunk(`const logo = "${bytes}"; // this is the logo`), 'a.ts').body).toBe(
      'logo logo',
    );
  });
  it.each(['a', 'aB', 'a-', 'A ', 'ab ', 'é', '数', 'A_', ' '])(
    'are bounded for a megabyte of "%s"',
    (unit) => {
      const text = unit.repeat(1_000_000 / unit.length);
      const terms = toIndexTerms(
        { kind: 'class', symbol: text, parent: text, signature: text, content: text },
        text,
      );
      expect(terms.body.length).toBeLessThan(20_000);
      expect(
        Object.values(terms)
          .flatMap((column: string) => column.split(' '))
          .filter((term) => term.length > 64),
      ).toEqual([]);
    },
  );
});

describe('the names that a class or a block declares', () => {
  it.each([
    ['export const MAX_USERS = 100;', 'MAX_USERS'],
    ['#define MAX_USERS 100', 'MAX_USERS'],
    ['exports.parseHeader = parse;', 'parseHeader'],
    ['limit := 10', 'limit'],
    ['    def close(self):', 'close'],
    ['func (r *Reader) Close() error {', 'Close'],
    ['  async close(force?: boolean): Promise<void> {', 'close'],
    ['  public static void main(String[] args) {', 'main'],
    ['void Reader::close() {', 'close'],
    ['  #entries = new Map();', 'entries'],
    ['  private boolean longParameters(', 'longParameters'],
    ['  if (isReady()) {', undefined],
    ['        const local = 1;', undefined],
    ['  close();', undefined],
    ['return run(() => {', undefined],
    ['a == b', undefined],
  ])('%s', (line, name) => {
    expect(findDeclaredNames('class', line)).toEqual(name === undefined ? [] : [name]);
    expect(findDeclaredNames('method', line)).toEqual([]);
  });
});

describe('the terms of a query', () => {
  it('are words without stop words, and identifiers whole', () => {
    expect(parseQueryTerms('How do I get the user in getUserById of the HTTPServer?')).toEqual({
      words: ['get', 'user', 'id', 'http', 'server'],
      compounds: ['getuserbyid', 'httpserver'],
    });
  });
  it('include stop words if there is nothing else', () => {
    expect(parseQueryTerms('this')).toEqual({ words: ['this'], compounds: [] });
  });
  it('are empty for punctuation', () => {
    expect(parseQueryTerms('"(*^ -- ::')).toEqual({ words: [], compounds: [] });
  });
});
