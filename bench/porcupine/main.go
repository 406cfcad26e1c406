// Checks the histories of `npm run bench -- --moments` by porcupine: whether they are linearizable.
//
//	go run . ../results/history.jsonl
//
// With -broken it first breaks each history in the ways below, and expects that each is found.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

type operation struct {
	History string `json:"history"`
	F       string `json:"f"`
	N       int64  `json:"n"`
	Call    int64  `json:"call"`
	Return  int64  `json:"return"`
}

// The state of the source is the number of its last commit; that of a copy is the latest that was seen of it.
var counter = porcupine.Model{
	Init: func() interface{} { return int64(-1) },
	Step: func(state, input, _ interface{}) (bool, interface{}) {
		at, op := state.(int64), input.(operation)
		switch op.F {
		case "begin":
			return at == -1, op.N
		case "commit":
			return at == op.N-1, op.N
		case "read":
			return at == op.N, at
		default:
			return at <= op.N, op.N
		}
	},
}

func isLinearizable(operations []operation) bool {
	history := make([]porcupine.Operation, len(operations))
	for at, op := range operations {
		history[at] = porcupine.Operation{Input: op, Call: op.Call, Return: op.Return}
	}
	return porcupine.CheckOperations(counter, history)
}

// Ways to break a history; each changes the last operation that it can.
var broken = map[string]func([]operation) []operation{
	"a read that goes back": func(all []operation) []operation {
		isLater := func(op operation) bool { return (op.F == "read" || op.F == "look") && op.N > all[0].N }
		return changed(all, isLater, func(op *operation) { op.N = all[0].N })
	},
	"a read of what is not committed yet": func(all []operation) []operation {
		return changed(all, func(op operation) bool { return op.F == "read" }, func(op *operation) { op.N += 25 })
	},
	"a commit that is lost": func(all []operation) []operation {
		return changed(all, func(op operation) bool { return op.F == "commit" }, func(op *operation) { op.N++ })
	},
}

func changed(all []operation, is func(operation) bool, change func(*operation)) []operation {
	copied := append([]operation{}, all...)
	sort.SliceStable(copied, func(one, other int) bool { return copied[one].Call < copied[other].Call })
	for at := len(copied) - 1; at >= 0; at-- {
		if is(copied[at]) {
			change(&copied[at])
			return copied
		}
	}
	return nil
}

func main() {
	isBreaking := os.Args[1] == "-broken"
	file, err := os.Open(os.Args[len(os.Args)-1])
	if err != nil {
		panic(err)
	}
	histories, names := map[string][]operation{}, []string{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var op operation
		if err := json.Unmarshal(lines.Bytes(), &op); err != nil {
			panic(err)
		}
		if len(histories[op.History]) == 0 {
			names = append(names, op.History)
		}
		histories[op.History] = append(histories[op.History], op)
	}
	isAsExpected := true
	for _, name := range names {
		if !isBreaking {
			began := time.Now()
			verdict := isLinearizable(histories[name])
			line, _ := json.Marshal(map[string]interface{}{"history": name, "operations": len(histories[name]),
				"linearizable": verdict, "seconds": time.Since(began).Seconds()})
			fmt.Println(string(line))
			isAsExpected = isAsExpected && verdict
			continue
		}
		for way, breaking := range broken {
			mutated := breaking(histories[name])
			// What is looked at in a copy may be as late as one likes, and a short history may have no such operation.
			isOfSource := strings.HasPrefix(name, "source")
			if mutated == nil || !isOfSource && way != "a read that goes back" {
				continue
			}
			found := !isLinearizable(mutated)
			fmt.Printf("%s, %s: found %t\n", name, way, found)
			isAsExpected = isAsExpected && found
		}
	}
	if !isAsExpected {
		os.Exit(1)
	}
}
