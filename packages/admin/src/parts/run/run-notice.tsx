import { Eye, Pencil, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Tool } from '../../../../gateway/src/api/tool.ts';
import { getRisk } from '../../state/tools.ts';

const NOTICES = {
  read_only: { Icon: Eye, text: 'This tool only reads data' },
  write: { Icon: Pencil, text: 'This tool changes data' },
  destructive: { Icon: TriangleAlert, text: 'This tool may make destructive changes' },
  unannotated: {
    Icon: TriangleAlert,
    text: 'This tool may make destructive changes: it has no trusted hints',
  },
} as const;

/** Warns what a call may do, before it is made. */
export function RunNotice({ tool }: { readonly tool: Tool }): ReactNode {
  const risk = getRisk(tool);
  const isDoubted = risk === 'read_only' && !tool.hints.readOnlyHint.decision;
  const { Icon, text } = isDoubted ? DOUBTED : NOTICES[risk];
  return (
    <p className={`run-notice run-notice-${isDoubted ? 'write' : risk}`}>
      <Icon size={16} aria-hidden /> {text}
    </p>
  );
}

const DOUBTED = {
  Icon: TriangleAlert,
  text: 'This tool claims that it only reads data, but its server is not trusted',
} as const;
