import { NOTICE_TEST } from '../../api/notice.ts';
import { err, ok } from '@assay-mcp/kit/result';
import { type AdminDeps, findExecuteRefusal } from './admin-deps.ts';
import { route, type Route } from './route.ts';

/** Sends test notices to what the settings name, which may be a program. */
export function noticeRoutes(deps: Pick<AdminDeps, 'notices' | 'mayExecute'>): readonly Route[] {
  return [
    route(
      {
        method: 'post',
        path: '/notices/test',
        id: 'testNotices',
        summary: 'Send a test notice to each target that the settings name',
        about:
          'To `approvals.notify`, `overrides.notify` and `servers.notify`, once, without a second try. As they may name a program, this requires the scope `execute`.',
        answer: {
          about: 'One result for each setting that names a target.',
          schema: NOTICE_TEST,
          example: { results: [{ setting: 'approvals.notify', target: 'https://chat.example' }] },
        },
        refusals: ['EXECUTE_OFF'],
      },
      async (call) => {
        const denied = findExecuteRefusal(deps, call);
        if (denied !== undefined) return err(denied);
        return ok({ kind: 'list', body: { results: await deps.notices.test() } });
      },
    ),
  ];
}
