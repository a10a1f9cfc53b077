import type { ReactNode } from 'react';
import type { DocumentPreview as Preview, DocumentTool } from '../../../gateway/src/api/server.ts';
import { getRisk, type RiskHints } from '../state/tools.ts';
import { HintIcons } from './hint-icons.tsx';
import { HostileText } from './hostile-text.tsx';
import { RiskBadge } from './risk-badge.tsx';

/** The tools that an OpenAPI document would add, with their hints, and the skipped operations. */
export function DocumentPreview({ preview }: { readonly preview: Preview }): ReactNode {
  const { tools, total, skipped } = preview;
  return (
    <section className="document-preview" aria-label="Tools to add">
      <h3>
        {total === 1 ? '1 tool' : `${total.toLocaleString('en')} tools`}
        <span className="quiet small">Nothing is saved yet</span>
      </h3>
      <ul tabIndex={0} aria-label="Tools of the document">
        {tools.map((tool) => (
          <ToolLine key={tool.name} tool={tool} />
        ))}
        {total > tools.length && (
          <li className="quiet small">and {(total - tools.length).toLocaleString('en')} more</li>
        )}
      </ul>
      {skipped.length > 0 && (
        <details>
          <summary>
            {skipped.length === 1 ? '1 part cannot be used' : `${skipped.length} parts cannot be used`}
          </summary>
          <ul>
            {skipped.map(({ what, why }) => (
              <li key={`${what} ${why}`} className="small wrap">
                <code>
                  <HostileText text={what} />
                </code>{' '}
                <span className="quiet">
                  <HostileText text={why} />
                </span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function ToolLine({ tool }: { readonly tool: DocumentTool }): ReactNode {
  const { name, title, method, path, hints } = tool;
  return (
    <li>
      <span className="document-tool">
        <span className="wrap" title={name}>
          <HostileText text={title ?? name} />
        </span>
        <code className="quiet small wrap">
          <HostileText text={[method, path].filter((part) => part !== undefined).join(' ')} />
        </code>
      </span>
      <HintIcons hints={hints} />
      <RiskBadge risk={getRisk({ hints: uncontradicted(hints) })} />
    </li>
  );
}

/** There can be no evidence against the hints of a tool that does not exist yet. */
function uncontradicted(hints: DocumentTool['hints']): RiskHints {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = hints;
  const isContradicted = false;
  return {
    readOnlyHint: { ...readOnlyHint, isContradicted },
    destructiveHint: { ...destructiveHint, isContradicted },
    idempotentHint: { ...idempotentHint, isContradicted },
    openWorldHint: { ...openWorldHint, isContradicted },
  };
}
