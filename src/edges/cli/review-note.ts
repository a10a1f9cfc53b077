import { counted } from '../../core/counted.ts';
import type { ReviewCounts } from '../../gateway/hints/review-counts.ts';

export function reviewNote({ tools, dangerous, suspended }: ReviewCounts): string {
  const parts = [
    ...(dangerous > 0 ? [`${dangerous} dangerous`] : []),
    ...(suspended > 0 ? [`${suspended} with suspended overrides`] : []),
  ];
  const details = parts.length === 0 ? '' : ` (${parts.join(', ')})`;
  return `note: ${counted(tools, 'tool')} to review${details}; \`assay review\` shows what changed`;
}
