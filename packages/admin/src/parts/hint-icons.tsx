import { Tooltip } from '@mantine/core';
import { Globe, Lock, RefreshCw, TriangleAlert, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Hint } from '../../../gateway/src/api/hint.ts';
import type { ToolHint } from '../../../gateway/src/api/tool.ts';

interface Meaning {
  readonly Icon: LucideIcon;
  readonly hint: Hint;
  readonly label: string;
  readonly text: string;
}

const MEANINGS: readonly Meaning[] = [
  { Icon: Lock, hint: 'readOnlyHint', label: 'Read-only', text: 'It only reads data' },
  { Icon: TriangleAlert, hint: 'destructiveHint', label: 'Destructive', text: 'It may delete or overwrite' },
  {
    Icon: RefreshCw,
    hint: 'idempotentHint',
    label: 'Idempotent',
    text: 'Repeating a call with the same arguments has no further effect',
  },
  {
    Icon: Globe,
    hint: 'openWorldHint',
    label: 'Open world',
    text: 'It may reach external systems',
  },
];

/** The hints that are true, each as an icon; its meaning and reason are shown on hover and focus. */
export function HintIcons({
  hints,
}: {
  readonly hints: Readonly<Record<Hint, Pick<ToolHint, 'effective' | 'reason'>>>;
}): ReactNode {
  return (
    <span className="hint-icons">
      {MEANINGS.filter(({ hint }) => hints[hint].effective).map(({ Icon, hint, label, text }) => (
        <Tooltip
          key={hint}
          label={`${label}: ${text.charAt(0).toLowerCase()}${text.slice(1)} (${hints[hint].reason})`}
          events={{ hover: true, focus: true, touch: true }}
          multiline
          maw={280}
          transitionProps={{ duration: 0 }}
        >
          <span role="img" aria-label={label} tabIndex={0} className="mark" data-hint={hint}>
            <Icon size={16} aria-hidden />
          </span>
        </Tooltip>
      ))}
    </span>
  );
}
