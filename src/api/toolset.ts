/** A tool of a toolset, or all of a server: `linear.*`. */
export interface ToolsetMember {
  readonly namespacedName: string;
  /** The tool is pinned to this definition. */
  readonly refId?: string;
  /** For a whole server: tools that are left out, by the server's own names. */
  readonly except?: readonly string[];
}

export interface ToolsetNote {
  readonly name: string;
  readonly note: string;
  readonly author: string;
  readonly by: 'model' | 'operator';
  readonly writtenAt: string;
  /** Whether an operator must accept it first. */
  readonly isHeld?: true;
}

/** Texts from models and operators are as sent. */
export interface Toolset {
  readonly name: string;
  readonly description?: string;
  readonly isEquipped: boolean;
  readonly createdAt: string;
  readonly lastModified: string;
  readonly tools: readonly ToolsetMember[];
  readonly toolNotes: readonly {
    readonly toolRef: { readonly namespacedName: string };
    readonly notes: readonly ToolsetNote[];
  }[];
}

export interface ToolsetPage {
  readonly toolsets: readonly Toolset[];
  readonly nextCursor?: string;
}

export interface UnservedTools {
  readonly unserved: readonly { readonly tool: string; readonly reason: string }[];
}

/** Tools of whole servers that appeared since they were accepted. */
export interface NewTools {
  readonly new: readonly { readonly namespacedName: string }[];
}

/** Number of tokens that a model reads for each tool, by namespaced name. */
export interface ToolCosts {
  readonly tokens: Readonly<Record<string, number>>;
}

export interface FoundTools {
  readonly tools: readonly string[];
}

export interface ClientSnippetView {
  readonly id: string;
  readonly label: string;
  readonly path: string;
  readonly stdio: string;
  readonly http?: string;
  readonly next: string;
}

export interface ClientSnippetList {
  readonly url: string;
  readonly needsToken: boolean;
  readonly clients: readonly ClientSnippetView[];
}

export interface ToolNote extends Omit<ToolsetNote, 'isHeld'> {
  readonly toolset: string;
  /** Whether an operator must accept it first. */
  readonly isHeld: boolean;
}

export interface ToolNotes {
  /** In the order in which models read them, toolset by toolset. */
  readonly notes: readonly ToolNote[];
  /** The description that models read in each toolset that has the tool. */
  readonly descriptions: readonly { readonly toolset: string; readonly description: string }[];
}
