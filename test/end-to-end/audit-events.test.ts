// Changes of toolsets and tokens are stored together with their author.
import { describe, expect, it } from 'vitest';
import type { StoredAuditEvent } from '../../packages/gateway/src/gateway/ports/records.ts';
import { startGateway } from '../support/gateway.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { readableAuditEvents, tryStore, valueOf } from '../support/store-values.ts';
import { newOperator } from '../support/toolset-commands.ts';
import { equip, meet } from '../support/toolsets.ts';

const OPERATOR = 'a-token-of-some-length-for-the-operator';

describe('an audit event', () => {
  it('is written by each command that changes toolsets or tokens, and by no other', async () => {
    const { home, run } = newOperator();
    const text = (await run('token', 'create', 'ci', '--scopes', 'read')).stdout.trim();
    for (const command of [
      'toolset create dev plain.echo --equip',
      'toolset create dev',
      'toolset add dev plain.add',
      'toolset rename dev work',
      'toolset unequip',
      'notes add work plain.echo hint Softly.',
      'toolset show work',
      'toolset delete work --yes',
      'token revoke ci',
      'token revoke ci',
    ])
      await run(...command.split(' '));
    const auditEvents = await auditEventsIn(home);
    expect(auditEvents.map(({ subject, action, target }) => `${subject} ${action} ${target.name}`)).toEqual([
      'local token.create ci',
      'local toolset.create dev',
      'local toolset.equip dev',
      'local toolset.update dev',
      'local toolset.rename work',
      'local toolset.unequip work',
      'local toolset.update work',
      'local toolset.delete work',
      'local token.revoke ci',
    ]);
    expect(auditEvents[1]).toMatchObject({
      after: { name: 'dev', tools: [{ namespacedName: 'plain.echo' }] },
    });
    // The differing parts of a change.
    expect(auditEvents[3]).toMatchObject({
      before: { name: 'dev', tools: [] },
      after: { name: 'dev', tools: [{ namespacedName: 'plain.add' }] },
    });
    expect(auditEvents[6]).toMatchObject({
      before: { toolNotes: [] },
      after: { toolNotes: [{ notes: [{ name: 'hint', note: 'Softly.' }] }] },
    });
    for (const secret of text.split('_').slice(2)) expect(JSON.stringify(auditEvents)).not.toContain(secret);
  });

  it('names the client whose call changed a toolset', async () => {
    const home = tempDir();
    const servers = { plain: fixture('plain') };
    const assay = await startGateway({ servers, home, env: { ASSAY_TOKEN: OPERATOR } });
    const url = `http://127.0.0.1:${assay.port}/mcp`;
    const model = await meet({ url, headers: { authorization: `Bearer ${OPERATOR}` } }, 'modern');
    await equip(model, 'dev', ['plain.echo']);
    await model.call('enter-configuration-mode');
    const notes = [{ name: 'hint', note: 'Softly.' }];
    for (let times = 0; times < 2; times++)
      await model.call('add-tool-annotation', { toolRef: { namespacedName: 'plain.echo' }, notes });
    await model.call('unequip-toolset');
    await model.call('delete-toolset', { name: 'dev', confirm: true });
    await model.client.close();
    expect(
      (await auditEventsIn(home)).map(({ subject, action, target }) => `${subject} ${action} ${target.name}`),
      // What a client equips for itself changes nothing for others, and is no event.
    ).toEqual(['create', 'update', 'delete'].map((action) => `operator toolset.${action} dev`));
  });
});

/** Oldest first. */
async function auditEventsIn(home: string): Promise<readonly StoredAuditEvent[]> {
  const store = valueOf(await tryStore({ home, databaseUrl: undefined }));
  const auditEvents = await readableAuditEvents(store, { limit: 100, after: 0 });
  await store.close();
  return auditEvents;
}
