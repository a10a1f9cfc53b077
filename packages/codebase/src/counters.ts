interface CallCount {
  readonly tool: string;
  readonly outcome: string;
  count: number;
  seconds: number;
}

/** What this process has done since it started, for `metrics://prometheus`. */
export class Counters {
  readonly #calls = new Map<string, CallCount>();
  #filesIndexed = 0;
  #chunksCreated = 0;

  /** `outcome`: OK, FAILED or the code of a fault. */
  called(tool: string, outcome: string, durationMs: number): void {
    const key = `${tool} ${outcome}`;
    const counted = this.#calls.get(key) ?? { tool, outcome, count: 0, seconds: 0 };
    counted.count += 1;
    counted.seconds += durationMs / 1_000;
    this.#calls.set(key, counted);
  }

  indexed(files: number, chunks: number): void {
    this.#filesIndexed += files;
    this.#chunksCreated += chunks;
  }

  get calls(): number {
    return [...this.#calls.values()].reduce((sum, { count }) => sum + count, 0);
  }

  /** https://prometheus.io/docs/instrumenting/exposition_formats/ */
  prometheus(): string {
    const calls = [...this.#calls.values()];
    const of = ({ tool, outcome }: CallCount): string => `{tool="${tool}",outcome="${outcome}"}`;
    return [
      '# HELP assay_codebase_tool_calls_total Calls by tool and outcome.',
      '# TYPE assay_codebase_tool_calls_total counter',
      ...calls.map((call) => `assay_codebase_tool_calls_total${of(call)} ${call.count}`),
      '# HELP assay_codebase_tool_seconds_total Time spent in calls, by tool and outcome.',
      '# TYPE assay_codebase_tool_seconds_total counter',
      ...calls.map((call) => `assay_codebase_tool_seconds_total${of(call)} ${call.seconds.toFixed(6)}`),
      '# HELP assay_codebase_files_indexed_total Files that were new or changed.',
      '# TYPE assay_codebase_files_indexed_total counter',
      `assay_codebase_files_indexed_total ${this.#filesIndexed}`,
      '# HELP assay_codebase_chunks_created_total Chunks written to an index.',
      '# TYPE assay_codebase_chunks_created_total counter',
      `assay_codebase_chunks_created_total ${this.#chunksCreated}`,
      '# HELP process_resident_memory_bytes Resident memory size in bytes.',
      '# TYPE process_resident_memory_bytes gauge',
      `process_resident_memory_bytes ${process.memoryUsage.rss()}`,
      '',
    ].join('\n');
  }
}
