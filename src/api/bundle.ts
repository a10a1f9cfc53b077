export type PlanAction = 'create' | 'update' | 'unchanged' | 'kept' | 'omitted';

/** What an import does, or would do, with one item of a bundle. */
export interface ImportItem {
  readonly kind: string;
  readonly name: string;
  readonly action: PlanAction;
  readonly changed: readonly string[];
  readonly before?: string | number | boolean | null;
  readonly after?: string | number | boolean | null;
  readonly warnings: readonly string[];
}

export interface ImportPlan {
  readonly applied: boolean;
  readonly counts: Readonly<Record<string, number>>;
  readonly items: readonly ImportItem[];
}
