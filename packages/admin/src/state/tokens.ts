import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type { NewToken, Token, TokenInput, TokenPage } from '../../../gateway/src/api/token.ts';
import { read, write } from './api.ts';

/** Valid ones first, each group newest first. */
export const tokensQuery = queryOptions({
  queryKey: ['tokens'],
  queryFn: async ({ signal }) => {
    const tokens: Token[] = [];
    let cursor: string | undefined;
    do {
      const after = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const page = await read<TokenPage>(`/tokens?limit=500${after}`, signal);
      tokens.push(...page.tokens);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    const isOver = ({ state }: Token): number => (state === 'valid' ? 0 : 1);
    return tokens.sort(
      (one, other) => isOver(one) - isOver(other) || other.createdAt.localeCompare(one.createdAt),
    );
  },
});

export function useCreateToken() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: TokenInput) => write<NewToken>('POST', '/tokens', input),
    onSettled: () => client.invalidateQueries({ queryKey: ['tokens'] }),
  });
}

export function useRevokeToken() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => write<undefined>('DELETE', `/tokens/${encodeURIComponent(id)}`),
    onSettled: () => client.invalidateQueries({ queryKey: ['tokens'] }),
  });
}
