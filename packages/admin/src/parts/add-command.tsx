import { SegmentedControl, Textarea, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { addServer } from '../state/servers.ts';
import { useMayExecute } from '../state/session.ts';
import { NeedsExecute } from './needs-execute.tsx';
import { AddForm, omitEmptyFields, parsePairs, TrustBox } from './add-form.tsx';

export interface AddKindProps {
  readonly onAdded: (name: string) => void;
}

const FIELDS = ['name', 'command', 'args', 'env', 'cwd', 'isolation'];

export function AddCommand({ onAdded }: AddKindProps): ReactNode {
  const [name, setName] = useState('');
  const [command, setCommand] = useState('');
  const [args, setArgs] = useState('');
  const [env, setEnv] = useState('');
  const [cwd, setCwd] = useState('');
  const [isolation, setIsolation] = useState<'shared' | 'session'>('shared');
  const [isTrusted, setTrusted] = useState(false);
  const mayExecute = useMayExecute();
  const { pairs, fault: envFault } = parsePairs(env, '=');
  const add = async (): Promise<string> => {
    const list = args.split('\n').filter((line) => line !== '');
    const body = omitEmptyFields({ name, command, cwd, env: pairs, args: list, isolation });
    return (await addServer({ ...body, trust: isTrusted })).name;
  };
  return (
    <AddForm
      action="Add and start"
      add={add}
      onAdded={onAdded}
      fields={FIELDS}
      isDisabled={!mayExecute || envFault !== undefined}
    >
      {(fault) => (
        <>
          {!mayExecute && <NeedsExecute>A command runs as the user who runs Assay.</NeedsExecute>}
          <TextInput
            label="Name"
            description="Prefix for the names of its tools"
            data-autofocus
            required
            value={name}
            error={fault('name')}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <TextInput
            label="Command"
            placeholder="npx"
            required
            value={command}
            error={fault('command')}
            onChange={(event) => setCommand(event.currentTarget.value)}
          />
          <Textarea
            label="Arguments"
            description="One per line"
            placeholder={'-y\n@modelcontextprotocol/server-filesystem\n/tmp'}
            rows={4}
            value={args}
            error={fault('args')}
            onChange={(event) => setArgs(event.currentTarget.value)}
          />
          <Textarea
            label="Environment"
            description="NAME=value, one per line. Stored encrypted and never shown again."
            rows={2}
            value={env}
            error={envFault ?? fault('env')}
            onChange={(event) => setEnv(event.currentTarget.value)}
          />
          <TextInput
            label="Working folder"
            placeholder="Assay’s working folder"
            value={cwd}
            error={fault('cwd')}
            onChange={(event) => setCwd(event.currentTarget.value)}
          />
          <div>
            <div className="label" id="isolation-label">
              Processes
            </div>
            <SegmentedControl
              size="xs"
              aria-labelledby="isolation-label"
              value={isolation}
              onChange={setIsolation}
              data={[
                { value: 'shared', label: 'One for all clients' },
                { value: 'session', label: 'One for each session' },
              ]}
            />
          </div>
          <TrustBox value={isTrusted} onChange={setTrusted} />
        </>
      )}
    </AddForm>
  );
}
