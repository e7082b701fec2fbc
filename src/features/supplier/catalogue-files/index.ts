import type { Feature } from '../../../web/feature-api.ts'
import { createCatalogues } from '../../catalogues/catalogues.ts'
import { createGrants } from '../../catalogues/grants.ts'
import { ASSUMPTIONS, PATHS, SCOPES } from './contract.ts'
import type { Import } from './import.ts'
import { Records } from './records.ts'
import { importRoutes, importSection } from './routes.ts'
import { Sender } from './sender.ts'

/** Sends catalogue files that follow the template, from pages or by `npm run feature -- catalogue-files push-catalogue`. */
export default {
  title: 'A supplier sends a file of items and prices to a catalogue',
  order: 40,
  needs: ['catalogues', 'first-party'],
  scopes: SCOPES,
  contract: { assumptions: ASSUMPTIONS, paths: PATHS },
  userData: () => import('./user-data.ts'),
  create({ connect, store, log, config, shutdownSignal }) {
    const { api, vault } = connect
    const records = new Records(store, config.platform.apiUrl)
    const source = ({ by }: Import) => by && vault.tokenSource(by)
    const sender = new Sender({ records, api, source, log })
    const options = { records, sender, catalogues: createCatalogues(api), vault, grants: createGrants(store) }
    return {
      routes: [
        { path: '/connections/:bxcontext/catalogues', needsConnection: true, router: importRoutes(options) },
      ],
      sections: [importSection(records)],
      start: () => void sender.work(shutdownSignal),
      stop: () => sender.close(),
    }
  },
} satisfies Feature
