import { expectTypeOf, it } from 'vitest';
import type { Approval } from '../../src/api/approval.ts';
import type { Gateway } from '../../src/api/server.ts';
import type { ImportPlan as ShownPlan } from '../../src/api/bundle.ts';
import type { PolicyDecision, PolicyRuleList } from '../../src/api/policy.ts';
import type { Tool } from '../../src/api/tool.ts';
import type { VerificationResult } from '../../src/api/verification.ts';
import type { Identity } from '../../src/core/subject.ts';
import type { SessionView } from '../../src/api/session.ts';
import type { ApprovalView } from '../../src/gateway/services/approvals.ts';
import type { ImportPlan } from '../../src/gateway/services/bundles/bundle-service.ts';
import type { ServerView } from '../../src/gateway/services/servers/server-view.ts';
import type { PolicyRulesView } from '../../src/gateway/services/policy-rules.ts';
import type { DecisionView } from '../../src/gateway/services/tools/explain-decision.ts';
import type { ToolView } from '../../src/gateway/services/tools/tool-view.ts';
import type { VerificationSummary } from '../../src/gateway/services/verification/verifications.ts';

/** The type once sent as JSON, which omits undefined members. */
type Sent<T> = T extends (...args: never[]) => unknown
  ? never
  : T extends readonly (infer Item)[]
    ? readonly Sent<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: Sent<Exclude<T[Key], undefined>> }
      : T;

// The compiler is the test: `tsc` fails if a response of the API no longer has what the admin pages read.
it('the API sends what the admin pages expect', () => {
  expectTypeOf<Sent<ApprovalView>>().toExtend<Approval>();
  expectTypeOf<Sent<ToolView>>().toExtend<Tool>();
  expectTypeOf<Sent<ServerView>>().toExtend<Gateway>();
  expectTypeOf<Sent<ImportPlan>>().toExtend<ShownPlan>();
  expectTypeOf<Sent<DecisionView>>().toExtend<PolicyDecision>();
  expectTypeOf<Sent<PolicyRulesView>>().toExtend<PolicyRuleList>();
  expectTypeOf<Sent<VerificationSummary>>().toExtend<VerificationResult>();
  expectTypeOf<Sent<Identity>>().toExtend<SessionView>();
});
