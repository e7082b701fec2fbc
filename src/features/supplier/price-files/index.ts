import { join } from 'node:path'
import type { Feature } from '../../../web/kit.ts'
import { createCatalogues } from '../../catalogues/catalogues.ts'
import { createGrants } from '../../catalogues/grants.ts'
import { createCatalogueImports } from './catalogue-imports.ts'
import { ASSUMPTIONS, PATHS, SCOPES } from './contract.ts'
import { Imports } from './imports.ts'
import { importRoutes, importSection, uploadRoute } from './routes.ts'
import { type PriceFilesSettings, priceFilesSettings } from './settings.ts'
import { texts } from './texts.ts'

/** Imports price files into a catalogue: on web pages, and from the command line (`npm run feature -- price-files push-catalogue`). */
export default {
  title: 'A supplier sends prices from a spreadsheet into a catalogue',
  order: 40,
  needs: ['catalogues', 'first-party'],
  settings: priceFilesSettings,
  scopes: SCOPES,
  contract: { assumptions: ASSUMPTIONS, paths: PATHS },
  deleteUser: () => import('./delete-user.ts'),
  exportUser: () => import('./export-user.ts'),
  create({ connect, store, log, config, shutdownSignal }, settings) {
    const { api, vault } = connect
    const imports = new Imports({
      ...settings,
      store,
      log,
      dir: join(config.dataDir, 'imports'),
      apiUrl: config.platform.apiUrl,
      catalogueImports: createCatalogueImports(api),
      source: (ref) => vault.tokenSource(ref),
    })
    const grants = createGrants(store)
    const options = { imports, catalogues: createCatalogues(api), vault, grants }
    return {
      routes: [
        { path: '/connections/:bxcontext/catalogues', router: uploadRoute(options) },
        { path: '/connections/:bxcontext/imports', router: importRoutes(options) },
      ],
      sections: [importSection(imports)],
      connectionLinks: async (ref) =>
        (await imports.list(ref))
          .filter(({ state }) => state === 'running' || state === 'failed')
          .map((job) => ({
            path: `/imports/${job.id}`,
            label: texts.importOf(job.fileName, job.state === 'failed'),
          })),
      start: () => void imports.sender.work(shutdownSignal),
      stop: () => imports.sender.close(),
    }
  },
} satisfies Feature<PriceFilesSettings>
