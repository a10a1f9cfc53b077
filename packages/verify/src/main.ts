#!/usr/bin/env node
// The build puts this import into this file: an older Node could not parse the rest of the program.
import { endWithReader } from '@assay-mcp/kit/platform/end-with-reader';
import { hasNeededNode } from '@assay-mcp/kit/platform/start-program';

if (hasNeededNode('assay-verify')) {
  endWithReader();
  const { runCommandLine } = await import('./command.ts');
  process.exitCode = await runCommandLine(process.argv);
}
