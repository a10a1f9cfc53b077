import type { Risk } from './tools.ts';

/** The filters of the list are in the address, so that a link shows the same. */
export interface ToolSearch {
  readonly q?: string;
  readonly risk?: Risk;
  readonly server?: string;
  readonly review?: true;
  /** The tool in the side panel. */
  readonly tool?: string;
}

const RISKS: readonly Risk[] = ['read_only', 'write', 'destructive', 'unannotated'];

export function readToolSearch(given: Record<string, unknown>): ToolSearch {
  const text = (name: string): string | undefined => {
    const value = given[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const risk = RISKS.find((one) => one === given['risk']);
  const [q, server, tool] = [text('q'), text('server'), text('tool')];
  return {
    ...(q !== undefined && { q }),
    ...(risk !== undefined && { risk }),
    ...(server !== undefined && { server }),
    ...(given['review'] === true && { review: true as const }),
    ...(tool !== undefined && { tool }),
  };
}
