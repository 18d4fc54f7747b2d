/**
 * What the routes answer, by name. The schemas are thousands of objects that only the description of the API needs: they are loaded
 * with that, when someone first asks for it.
 */
import type { z } from 'zod'
import type * as answers from './answers.ts'

type Answers = typeof answers
/** Those of answers.ts. */
type AnswerName = keyof Answers

/** Stands where the schema would. */
export class NamedAnswer {
  readonly name: AnswerName
  readonly isList: boolean

  constructor(name: AnswerName, isList: boolean) {
    this.name = name
    this.isList = isList
  }
}

/** What a route answers. The compiler holds the route to the schema of that name, as if it stood here. */
export function named<N extends AnswerName>(name: N): Answers[N] {
  return new NamedAnswer(name, false) as unknown as Answers[N]
}

/** As `named`, many of them. */
export function listOf<N extends AnswerName>(name: N): ListOf<Answers[N]> {
  return new NamedAnswer(name, true) as unknown as ListOf<Answers[N]>
}

/** Some answers are no JSON: nothing is a list of those. */
type ListOf<A> = A extends z.ZodType ? z.ZodArray<A> : never
