import { dirname, join } from 'node:path'
import type { Assumption } from '../connect/index.ts'
import type { Contract } from '../web/kit.ts'
import { foldersWith } from './load.ts'

/** Loads all contracts: the core's first, then those of the features, which are found by folder. */
export async function loadContracts(): Promise<Contract[]> {
  const ofFeatures = foldersWith('contract.ts').map((name) => load(name, `src/features/${name}/contract.ts`))
  return Promise.all([load('core', 'src/connect/platform/contract.ts'), ...ofFeatures])
}

async function load(name: string, file: string): Promise<Contract> {
  const {
    ASSUMPTIONS = [],
    SCOPES = {},
    PATHS = {},
  } = await import(new URL(`../../${file}`, import.meta.url).href)
  return { name, file, assumptions: ASSUMPTIONS, scopes: SCOPES, paths: templatesOf(PATHS) }
}

type PathOf = string | ((...ids: string[]) => string)

/** Paths with `:id` in place of ids, such as `/leads/:id`, without their query. */
const templatesOf = (paths: Readonly<Record<string, PathOf>>) =>
  Object.values(paths).map((path) => {
    const text = typeof path === 'string' ? path : path(...Array<string>(path.length).fill('{id}'))
    return decodeURIComponent(text).replace(/\?.*/, '').replaceAll('{id}', ':id')
  })

/** Where to change the code if an assumption is wrong, such as `platform in src/connect/platform/contract.ts`. */
export function placeOf({ file }: Contract, { code }: Assumption): string {
  const [name = '', beside] = code.split('#').reverse()
  return `${name} in ${beside ? join(dirname(file), beside) : file}`
}
