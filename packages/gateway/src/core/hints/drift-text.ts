import type { DriftRisk, RiskCode } from './drift.ts';
import { HINTS } from '@assay-mcp/kit/hint';

/** A change as a phrase: "its description was rewritten". */
export function formatRisk(risk: DriftRisk): string {
  if (risk.code === 'hint_raised')
    return `it declares itself more dangerous: ${risk.hint} is ${risk.value} now`;
  if (risk.code === 'hint_lowered') return `it looks safer: ${risk.hint} is ${risk.value} now`;
  return TEXTS[risk.code];
}

const TEXTS: Readonly<Record<Exclude<RiskCode, 'hint_raised' | 'hint_lowered'>, string>> = {
  hint_like: `an annotation changed that some clients may read as a hint, though it is not exactly one of ${HINTS.join(', ')} with true or false`,
  name: 'its name changed',
  input_schema: 'its input schema changed',
  request: 'it sends a different request, or belongs to a different module',
  target: 'its requests go elsewhere',
  unreadable: 'its definition cannot be compared, because it is not a JSON object',
  ambiguous: 'an object in it has the same key twice, so that readers may understand it differently',
  title: 'its title was rewritten',
  description: 'its description was rewritten',
  schema_text: 'the descriptions in its input schema were rewritten',
  icons: 'its icons changed',
  output_schema: 'its output schema changed',
  meta: 'its _meta changed',
};
