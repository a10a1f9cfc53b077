import type { ReactNode } from 'react';
import type { Hint } from '../../../../gateway/src/api/hint.ts';
import type { Tool } from '../../../../gateway/src/api/tool.ts';
import type { ObservedHint as Observed } from '../../../../gateway/src/api/verification.ts';
import { HostileText } from '../hostile-text.tsx';
import { When } from '../when.tsx';

const VERDICTS: Readonly<Record<Observed['verdict'], string>> = {
  contradicted: 'Contradicted',
  consistent: 'Consistent',
  supported: 'Supported',
  not_exercised: 'Not exercised',
  not_applicable: 'Not applicable',
  unobserved: 'Unobserved',
};

/** What verifications observed about one hint, with the effects. */
export function ObservedHint({ tool, hint }: { readonly tool: Tool; readonly hint: Hint }): ReactNode {
  const { verification } = tool;
  const observed = verification?.hints[hint];
  if (verification === undefined || observed === undefined) return null;
  const { verdict, at, calls, shapes, reason, evidence = [] } = observed;
  const isAlarm = verdict === 'contradicted' && verification.isCurrent;
  return (
    <div className="observed">
      <p className={isAlarm ? 'contradicted' : 'quiet small'}>
        {VERDICTS[verdict]} <When at={at} />
        {calls !== undefined && ` by ${calls} calls with ${shapes ?? 1} shapes of arguments`}
        {reason !== undefined && `: ${reason}`}
        {!verification.isCurrent && '. The definition has changed since, so this has no effect on decisions.'}
      </p>
      {evidence.length > 0 && (
        <ul className="claims" aria-label="Evidence">
          {evidence.map((effect, index) => (
            <li key={index}>
              <HostileText text={effect.message} />
              <span className="quiet small">
                {' '}
                by call {effect.call} with <HostileText text={effect.args} />, <When at={effect.at} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
