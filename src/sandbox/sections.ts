/** A place in a page to which parts add sections about a subject, such as a business. */
export interface Place<Subject> {
  name: string
  /** Never set. It lets the compiler check that a section fits the subject of its place. */
  subject?: Subject
}

export interface Section {
  place: string
  /** The path of its template below views/sandbox. */
  view: string
  data(subject: unknown): object | undefined
}

/** A section of a page, which is left out if `data` returns undefined. */
export function section<Subject>(
  place: Place<Subject>,
  view: string,
  data: (subject: Subject) => object | undefined,
): Section {
  return { place: place.name, view, data: data as Section['data'] }
}

/** The sections about a subject that the parts add at a place. */
export function sectionsOf<Subject>(
  parts: readonly { sections?: Section[] }[],
  place: Place<Subject>,
  subject: Subject,
) {
  return parts
    .flatMap(({ sections = [] }) => sections)
    .filter((section) => section.place === place.name)
    .flatMap(({ view, data }) => {
      const shown = data(subject)
      return shown ? { view: `/${view}`, data: shown } : []
    })
}
