// Loaded first in a server under Node's permission model: removes what that leaves open. With `?network` in its URL,
// the network stays open.
import { syncBuiltinESMExports } from 'node:module';
import { closeGaps, closeNetwork } from './permission-gaps.ts';

closeGaps('A read-only tool');
if (!new URL(import.meta.url).searchParams.has('network')) closeNetwork();
syncBuiltinESMExports();
