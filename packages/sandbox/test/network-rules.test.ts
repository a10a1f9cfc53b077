import { expect, it } from 'vitest';
import { findAllowance, readAllowedHost, readDestination } from '../src/network-rules.ts';

it.each<[destination: string, list: readonly string[] | undefined, allowance: string | undefined]>([
  ['example.com:443', undefined, 'any'],
  ['example.com:443', [], undefined],
  ['EXAMPLE.com.:443', ['example.com'], 'named'],
  ['example.com:80', ['example.com:443'], undefined],
  ['api.example.com:443', ['example.com'], undefined],
  ['api.example.com:443', ['*.example.com'], 'any'],
  ['example.com:443', ['*.example.com'], undefined],
  ['evil-example.com:443', ['*.example.com'], undefined],
  ['[::1]:8080', ['[::1]:8080'], 'named'],
  ['10.0.0.5:80', ['*.example.com', '10.0.0.5'], 'named'],
  ['example.com:443', ['*'], 'any'],
  ['localhost:80', ['*', 'localhost'], 'named'],
])('allows %s with the list %j as %s', (text, list, allowance) => {
  const destination = readDestination(text);
  expect(destination && findAllowance(destination, list)).toBe(allowance);
});

it.each(['', '*', 'http://example.com', 'example.com/path', 'a b', 'example.com:0', 'example.com:70000'])(
  'rejects %j as a host',
  (text) => {
    expect(readAllowedHost(text)).toBeUndefined();
  },
);
