/** Walks through the pages of each feature that has a `marked-pages.ts`, in one process: loading the app takes longer than a walk. */
import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import '../support/marked-texts.ts'

const here = fileURLToPath(new URL('.', import.meta.url))
for (const file of globSync('{*,*/*}/marked-pages.ts', { cwd: here })) await import(here + file)
