import { expect, it } from 'vitest';
import { checkClients } from '../../src/core/check-clients.ts';

const ENTRY = { client: 'claude-code', label: 'Claude Code', name: 'assay', command: [] };

it('a client whose entry names a program that is gone gets no tools, and is told how to write the entry again', () => {
  expect(checkClients([{ ...ENTRY, missing: ['/old/node'] }])).toEqual([
    {
      check: 'commands',
      level: 'problem',
      about: 'Claude Code',
      message:
        'Its entry "assay" for Assay names "/old/node", which does not exist, so the client gets no tools.',
      remedy:
        'Run `assay connect claude-code --name assay --force` to write the entry again, and restart the client.',
    },
  ]);
  expect(checkClients([{ ...ENTRY, missing: [] }])).toEqual([
    {
      check: 'commands',
      level: 'ok',
      about: 'Claude Code',
      message: 'Its entry "assay" for Assay is usable.',
    },
  ]);
});
