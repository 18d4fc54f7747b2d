import { playPart } from './plays.ts'

playPart(1)
