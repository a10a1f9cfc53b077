import type { Refusal } from '../refusal.ts';
import type { RefusalTable } from './refusal-row.ts';
import { ACCESS_REFUSALS } from './access-refusals.ts';
import { CALL_REFUSALS } from './call-refusals.ts';
import { CONFIG_REFUSALS } from './config-refusals.ts';
import { POLICY_REFUSALS } from './policy-refusals.ts';
import { REQUEST_REFUSALS } from './request-refusals.ts';
import { SOURCE_REFUSALS } from './source-refusals.ts';
import { STORE_REFUSALS } from './store-refusals.ts';
import { TOOLSET_REFUSALS } from './toolset-refusals.ts';

/** What is reported for each refusal. */
export const REFUSALS: RefusalTable<Refusal> = {
  ...REQUEST_REFUSALS,
  ...ACCESS_REFUSALS,
  ...CALL_REFUSALS,
  ...POLICY_REFUSALS,
  ...STORE_REFUSALS,
  ...CONFIG_REFUSALS,
  ...TOOLSET_REFUSALS,
  ...SOURCE_REFUSALS,
};
