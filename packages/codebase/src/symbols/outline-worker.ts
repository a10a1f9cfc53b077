import { answerCalls } from '@assay-mcp/kit/platform/thread';
import { keepUnoptimized } from '../chunks/compile-parsers.ts';
import { outlineFile, type OutlineJob } from './outline-file.ts';

answerCalls(() => {
  keepUnoptimized();
  return (_method, args) => outlineFile(args[0] as OutlineJob); // Only `Outliner` calls this.
});
