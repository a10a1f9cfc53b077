import type { EntryFault } from '../../core/sources/entry-fault.ts';
import type { RestToolSpec } from '../../core/sources/rest-tool.ts';
import { filterFault } from './http/filter.ts';
import { checkBy } from './schema-check.ts';

/** What of a request that was read well cannot be made use of, each at its member. */
export function faultsOfRest({ filter, inputSchema, outputSchema }: RestToolSpec): readonly EntryFault[] {
  const faults: EntryFault[] = [];
  const fault = filter === undefined ? undefined : filterFault(filter);
  if (fault !== undefined)
    faults.push({ field: 'filter', reason: `It is no JMESPath expression: ${fault}.` });
  for (const [field, schema] of Object.entries({ inputSchema, outputSchema })) {
    const check = schema === undefined ? undefined : checkBy(schema);
    if (check?.ok === false) faults.push({ field, reason: `It cannot be used: ${check.error}.` });
  }
  return faults;
}
