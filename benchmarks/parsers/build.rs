fn main() {
    lalrpop::process_src().expect("the grammars are sound");
}
