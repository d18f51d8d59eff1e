import { build } from 'esbuild';
import { openThread } from '../thread';
import { byPath, kinds, optionsOf } from './builds';

const send = openThread();

/** One after the other, for the first stacks to wait for theirs only. */
async function buildAll(): Promise<void> {
  for (const kind of kinds) send([kind, byPath(await build(optionsOf(kind)))]);
}

void buildAll();
