import { hash } from 'node:crypto';
import type { SourceChunk } from '../source-chunk.ts';

/** Depends on the real path only, so a rebuilt index has the same ids. A UUID of version 8 (RFC 9562, section 5.8). */
export function computeRepositoryId(path: string): string {
  const hex = hash('sha256', `repository\0${path}`, 'hex');
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join('-');
}

export interface ChunkIds {
  readonly id: string;
  readonly contentHash: string;
}

/**
 * The ids of a file's chunks, in order. They depend on the repository, the path, the symbol and the content, so indexing
 * again gives the same ones, and editing one function keeps those of the others.
 */
export function computeChunkIds(
  repository: string,
  path: string,
  chunks: readonly SourceChunk[],
): readonly ChunkIds[] {
  const counts = new Map<string, number>();
  return chunks.map(({ symbol, parent, content }) => {
    const contentHash = hash('sha256', content, 'hex');
    const name = [repository, path, parent ?? '', symbol ?? '', contentHash].join('\0');
    const ordinal = counts.get(name) ?? 0;
    counts.set(name, ordinal + 1);
    return { id: hash('sha256', `${name}\0${ordinal}`, 'hex').slice(0, ID_LENGTH), contentHash };
  });
}

const ID_LENGTH = 32;
