import { describe, expect, it } from 'vitest';
import { parseQuery } from '../src/search/parse-query.ts';
import { stemWord } from '@assay-mcp/kit/stem-word';

const identifiersOf = (query: string): readonly string[] =>
  parseQuery(query).identifiers.map(({ name, qualifiers }) => [...qualifiers, name].join(' '));

describe('a query', () => {
  it.each([
    ['getUserById', ['getUserById']],
    ['Foo.bar()', ['Foo bar']],
    ['HttpServer::listen', ['HttpServer listen']],
    ['std::io::Reader', ['std io Reader']],
    ['this->port', ['this port']],
    ['Parser#close', ['Parser close']],
    ['@Injectable', ['Injectable']],
    ['valid?', ['valid']],
    ['parse header', ['parse_header']],
    ['where is parse_header called', ['parse_header']],
    ['how do I parse a header', []],
    ['(', []],
  ])('yields its identifiers: %s', (query, identifiers) => {
    expect(identifiersOf(query)).toEqual(identifiers);
  });
  it.each([
    ['"not found"', ['not found']],
    ['foo.bar(', ['foo.bar(']],
    ['x => x.id', ['x => x.id']],
    ['getUserById', []],
    ['how are users (and groups) stored?', []],
    ['`a`', []],
  ])('yields its literal text: %s', (query, literals) => {
    expect(parseQuery(query).literals).toEqual(literals);
  });
  it('is a lookup if it is short, and a description if it is long', () => {
    expect(parseQuery('where is parse_header called').isLookup).toBe(true);
    expect(parseQuery('reads the first line and calls parse_header for the rest').isLookup).toBe(false);
  });
  it('also searches for the initials of three consecutive words', () => {
    const termsOf = (query: string): readonly string[] =>
      parseQuery(query).terms.filter((term) => term.length === 3);
    expect(termsOf('where is a stream of server-sent events parsed')).toEqual(['sse', 'sep']);
    expect(termsOf('reads from the store')).toEqual([]);
  });
  it('is truncated at a maximum length', () => {
    expect(parseQuery(`${'word '.repeat(10_000)}last`).words).toEqual(['word']);
  });
});

describe('stems', () => {
  it.each([
    'parse parses parsed parsing parser',
    'copy copies copied',
    'run runs running',
    'header headers',
    'class classes',
  ])('are equal: %s', (words) => {
    expect(new Set(words.split(' ').map(stemWord)).size).toBe(1);
  });
  it.each([
    ['user', 'use'],
    ['process', 'proceed'],
    ['id', 'ids2'],
  ])('differ: %s, %s', (one, other) => {
    expect(stemWord(one)).not.toBe(stemWord(other));
  });
});
