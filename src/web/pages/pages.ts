import { fileURLToPath } from 'node:url'
import { Eta } from 'eta'
import express, { type Request, type RequestHandler } from 'express'
import type { ConnectionRef, EncryptionKey } from '../../connect/index.ts'
import type { Notice } from '../requests/respond.ts'
import { pathOf } from '../requests/return-to.ts'
import { currentUser } from '../sign-in/user.ts'
import { texts } from '../texts.ts'
import { isCustomerView } from './customer-view.ts'
import { flashes } from './flash.ts'
import { format } from './format.ts'

declare module 'express-serve-static-core' {
  interface Request {
    /** Keeps a notice for the page at `location`, to which this answer redirects. */
    leaveNotice(notice: Notice, location: string): void
  }
  interface Response {
    /** Renders a template in `views`, such as `app/home`. `keepNotice`: keeps the notice for the next page. */
    page(view: string, data: { title: string; keepNotice?: boolean } & Record<string, unknown>): void
    /** Loads the sections that features add to a page, by the page's template. */
    loadSections(page: string): Promise<({ view: string } & SectionContent)[]>
  }
}

/** A section that a feature adds to a page of the app or of another feature. */
export interface PageSection {
  /** Template of the page, such as `catalogues/catalogue`. */
  page: string
  /** Template of the section, which gets the page's data and the result of `load`. */
  view: string
  /**
   * Loads `data` for the templates and `json` for the JSON response. `req.params` has the parameters of the page's route, and
   * `connectionRef` returns its connection.
   */
  load(req: Request): Promise<SectionContent>
}

interface SectionContent {
  data: Record<string, unknown>
  json: Record<string, unknown>
}

const views = fileURLToPath(new URL('../../../views', import.meta.url))

export interface PagesOptions {
  environment: 'production' | 'development' | 'test'
  /** The app's public origin, and the keys for its encrypted cookies. */
  baseUrl: string
  keys: readonly EncryptionKey[]
  /** Shown on every page. */
  warning: string | null
  /** Whether pages link to `/sign-in`, instead of showing the demo's form. */
  linksToSignIn: boolean
  /** The sandbox's address, if pages can link to it. */
  sandboxUrl: string | undefined
  /** The name of a connection for its user; null if it does not exist. */
  connectionName(ref: ConnectionRef): Promise<string | null>
  /** Links in the header, for signed-in users. */
  navigation: readonly { href: string; label: string; isForDevelopers?: boolean }[]
  /** The sections that features add to pages. */
  sections: readonly PageSection[]
}

/** Keeps translation programs from translating code. For names, `format.bdi` does that. */
const untranslated = {
  processTemplate: (template: string) => template.replaceAll('<code', '<code translate="no"'),
}

/** Adds `res.page()`, `res.loadSections()` and `req.leaveNotice()`. Templates escape their output. */
export function pages(options: PagesOptions): RequestHandler {
  const { environment, keys, baseUrl, warning, linksToSignIn, sandboxUrl, navigation, sections } = options
  const flashOf = flashes(keys, baseUrl)
  const eta = new Eta({ views, cache: environment !== 'development', plugins: [untranslated] })
  return (req, res, next) => {
    const render = (view: string, data: object, notice: Notice | null) => {
      const shared = {
        user: currentUser(req),
        customerView: isCustomerView(req),
        notice,
        warning,
        linksToSignIn,
        navigation,
        sandboxUrl,
        connectUrl: `${baseUrl}/connect`,
        currentPath: pathOf(req),
        texts,
        styles: [],
        scripts: [],
      }
      const html = eta.render(`/${view}`, { ...shared, ...format, ...data })
      res.type('html').send(html)
    }
    res.loadSections = (page) => {
      const added = sections.filter((section) => section.page === page)
      return Promise.all(added.map(async ({ view, load }) => ({ view, ...(await load(req)) })))
    }
    const flash = flashOf(req, res)
    req.leaveNotice = flash.leave
    res.page = (view, data) => {
      // The notice of an action is for the page that follows it, not for an error page or a live update.
      const isUpdate = req.get('x-live-update') !== undefined
      const user = currentUser(req)
      if (!user) return render(view, data, null)
      const { bxcontext, keepNotice = res.statusCode >= 400 } = data
      const notice = keepNotice || isUpdate ? null : flash.take()
      const named =
        typeof bxcontext === 'string' ? options.connectionName({ userId: user.id, bxcontext }) : undefined
      Promise.resolve(named)
        .then((connectionName) => render(view, { connectionName, ...data }, notice))
        .catch(next)
    }
    next()
  }
}

const assetsFolder = fileURLToPath(new URL('../../../views/public', import.meta.url))

/** Serves the styles, scripts and images in `views/public`. */
export const assets: RequestHandler = express.static(assetsFolder, {
  setHeaders: (res) => res.setHeader('Cache-Control', 'public, max-age=300'),
})
