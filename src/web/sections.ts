import type { Request } from 'express'

/** A section that a feature adds to a page of the app or of another feature. */
export interface PageSection {
  /** Template of the page, such as `catalogues/catalogue`. */
  page: string
  /** Template of the section; it receives the page's data and the result of `load`. */
  view: string
  /** Loads `data` for the templates and `json` for the JSON response. The request has the parameters of the page's address. */
  load(req: Request): Promise<{ data: Record<string, unknown>; json: Record<string, unknown> }>
}

/** A section with what it shows. */
export interface LoadedSection {
  view: string
  data: Record<string, unknown>
  json: Record<string, unknown>
}

/** Loads the sections of a page. */
export const loadSections = (
  sections: readonly PageSection[],
  page: string,
  req: Request,
): Promise<LoadedSection[]> =>
  Promise.all(
    sections
      .filter((section) => section.page === page)
      .map(async ({ view, load }) => ({ view, ...(await load(req)) })),
  )
