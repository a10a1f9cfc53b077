import { expect, it } from 'vitest';
import { parseSymbolName } from '../src/symbols/symbol-name.ts';

it.each([
  ['total', [], 'total'],
  [' `Cart.total` ', ['Cart'], 'total'],
  ['Cart::total()', ['Cart'], 'total'],
  ['shop::Cart<T>::total', ['shop', 'Cart'], 'total'],
  ['cart->total(int, int)', ['cart'], 'total'],
  ['Cart#total', ['Cart'], 'total'],
  ['Cart.prototype.total', ['Cart'], 'total'],
  ['App\\Models\\User', ['App', 'Models'], 'User'],
  ['http/server.listen', ['http', 'server'], 'listen'],
  ['src/http/server.ts:listen', ['src', 'http', 'server'], 'listen'],
  ['server.ts#listen', ['server'], 'listen'],
  ['valid?', [], 'valid?'],
  ['#count', [], '#count'],
  ['on-change', [], 'on-change'],
])('%s is read as %j and %s', (text, qualifiers, name) => {
  expect(parseSymbolName(text)).toEqual({ name, qualifiers, kindWord: undefined });
});

it('a kind may stand in front', () => {
  expect(parseSymbolName('struct client')).toEqual({ name: 'client', qualifiers: [], kindWord: 'struct' });
  expect(parseSymbolName('struct')).toMatchObject({ name: 'struct', kindWord: undefined });
});

it.each(['', '...', '()', 'two words', 'where is total', '" OR 1=1; DROP TABLE files; --', '+'])(
  '%j is not a name',
  (text) => {
    expect(parseSymbolName(text)).toBeUndefined();
  },
);
